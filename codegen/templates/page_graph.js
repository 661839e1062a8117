// What rebuilds what, and what takes what along: layers from left to right, drawn as SVG.

const NODE = { height: 28, gap: 18, between: 84, padding: 12, character: 7.3 };

const svg = (name, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

/** The longest way from a node that nothing leads to; an edge of a cycle that leads back is none. */
function layerOf(names, edges) {
  const layers = new Map();
  const visit = (name, above) => {
    if (layers.has(name)) return layers.get(name);
    const sources = edges.filter((one) => one.field === name && !above.has(one.source));
    const inner = new Set(above).add(name);
    const layer = Math.max(-1, ...sources.map((one) => visit(one.source, inner))) + 1;
    layers.set(name, layer);
    return layer;
  };
  for (const name of names) visit(name, new Set([name]));
  return layers;
}

/** Columns of nodes; an edge that skips columns has a bend in each, so that it crosses no node. */
function columnsOf(edges) {
  const names = [...new Set(edges.flatMap((one) => [one.source, one.field]))];
  const layers = layerOf(names, edges);
  const columns = [];
  const place = (node, layer) => {
    (columns[layer] ??= []).push(node);
    return node;
  };
  const nodes = new Map(
    names.map((name) => [name, place({ name, near: [] }, layers.get(name))]),
  );
  const paths = edges.map((edge) => {
    const path = [nodes.get(edge.source)];
    for (let layer = layers.get(edge.source) + 1; layer < layers.get(edge.field); layer++) {
      path.push(place({ name: null, near: [] }, layer));
    }
    path.push(nodes.get(edge.field));
    path.slice(1).forEach((node, index) => {
      node.near.push(path[index]);
      path[index].near.push(node);
    });
    return { edge, path };
  });
  return { columns, paths };
}

/** Put each node near what it is joined with, back and forth, so that few edges cross. */
function untangle(columns) {
  const rank = new Map();
  const number = (column) => column.forEach((node, index) => rank.set(node, index));
  columns.forEach(number);
  const middle = (node) =>
    node.near.reduce((sum, one) => sum + rank.get(one), 0) / (node.near.length || 1);
  for (let sweep = 0; sweep < 4; sweep++) {
    for (const column of sweep % 2 ? [...columns].reverse() : columns) {
      const middles = new Map(column.map((node) => [node, middle(node)]));
      column.sort((a, b) => middles.get(a) - middles.get(b));
      number(column);
    }
  }
}

/** Give every node its place; returns the size of the whole. */
function arrange(columns) {
  const pitch = NODE.height + NODE.gap;
  const height = Math.max(...columns.map((column) => column.length)) * pitch;
  let x = 1;
  for (const column of columns) {
    const widths = column.map((node) =>
      node.name === null ? 0 : node.name.length * NODE.character + 2 * NODE.padding,
    );
    const width = Math.max(...widths);
    const top = (height - column.length * pitch) / 2 + NODE.gap / 2;
    column.forEach((node, index) => {
      Object.assign(node, { x, width, y: top + index * pitch + NODE.height / 2 });
    });
    x += width + NODE.between;
  }
  return { width: x - NODE.between + 1, height };
}

function curve(path, shift) {
  let [from] = path;
  let d = `M${from.x + from.width},${from.y + shift}`;
  for (const to of path.slice(1)) {
    const [start, end] = [from.x + from.width, to.x - (to.name === null ? 0 : 2)];
    const bend = (end - start) / 2;
    d += `C${start + bend},${from.y + shift} ${end - bend},${to.y + shift} ${end},${to.y + shift}`;
    if (to.name === null) d += `H${to.x + to.width}`;
    from = to;
  }
  return d;
}

const sentence = (edge) =>
  `${edge.source} ${edge.rebuilds ? "rebuilds" : "takes along"} ${edge.field}`;

/** The picture of a model's edges; `id` makes its arrow head its own, `others` are not its fields. */
function graph(edges, id, others) {
  const { columns, paths } = columnsOf(edges);
  untangle(columns);
  const { width, height } = arrange(columns);
  const arrow = `arrow-${id}`;
  const head = svg("path", { d: "M0,0L8,4L0,8Z" });
  const marker = svg(
    "marker",
    { id: arrow, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8 },
    head,
  );
  marker.setAttribute("orient", "auto");
  marker.setAttribute("markerUnits", "userSpaceOnUse");
  const twins = (one) => edges.filter((e) => e.source === one.source && e.field === one.field);
  const lines = paths.map(({ edge, path }) => {
    const same = twins(edge);
    const shift = (same.indexOf(edge) - (same.length - 1) / 2) * 9;
    return svg("path", {
      d: curve(path, shift),
      class: edge.rebuilds ? "rebuilds" : "takes",
      "marker-end": `url(#${arrow})`,
    });
  });
  const boxes = columns.flat().filter((node) => node.name !== null).map((node) => box(node, others));
  const text = `${edges.map(sentence).join("; ")}.`;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": text },
    svg("defs", {}, marker),
    ...lines,
    ...boxes,
  );
}

function box(node, others) {
  const { x, y, width, name } = node;
  const shape = { x, y: y - NODE.height / 2, width, height: NODE.height, rx: 4 };
  const text = svg("text", { x: x + width / 2, y: y + 4, "text-anchor": "middle" }, name);
  return svg("g", { class: others.has(name) ? "other" : "own" }, svg("rect", shape), text);
}
