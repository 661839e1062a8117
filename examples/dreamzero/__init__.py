"""DreamZero on its generated session class: the model's own part, and a run that proves it."""
