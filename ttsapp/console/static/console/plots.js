// Draws each figure.plot from the table it names, so that both say the same.
// A column with data-series is a line, data-kind="bars" makes bars of all; the row's data-x is its place.
const COLOURS = ["--accent", "--good", "--warn", "--bad"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const plots = new Map();

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function columns(table) {
  const heads = [...table.tHead.rows[0].cells];
  return heads.map((cell, place) => ({ place, label: cell.dataset.series })).filter((column) => column.label);
}

function values(table, lines) {
  const rows = [...table.tBodies[0].rows];
  const number = (text) => (text === undefined || text === "" ? null : Number(text));
  const axis = rows.map((row) => number(row.dataset.x));
  return [axis, ...lines.map(({ place }) => rows.map((row) => number(row.cells[place].dataset.value)))];
}

function series({ label }, place, isBars, unit, isAlone) {
  const stroke = colour(COLOURS[place % COLOURS.length]);
  const value = (_, raw) => (raw === null ? "–" : `${raw.toLocaleString(undefined, { maximumFractionDigits: 4 })} ${unit}`);
  // One day is no line: a point that is seen.
  const points = isAlone ? { show: true, size: 11, fill: stroke } : {};
  const shape = isBars ? { fill: stroke, paths: uPlot.paths.bars({ size: [0.6, 60] }), points: { show: false } } : { width: 2, points };
  return { label, stroke, value, ...shape };
}

// As the table writes it: a month where bars are months, a day otherwise.
function day(seconds, kind) {
  return new Date(seconds * 1e3).toISOString().slice(0, kind === "bars" ? 7 : 10);
}

// Room for half a bar, or for a point that has no other, on both sides: half a day where it is alone.
const HALF_A_DAY = 43200;
function padded(plot) {
  const places = plot.data[0];
  const [first, last] = [places[0], places[places.length - 1]];
  const half = places.length > 1 ? (last - first) / (places.length - 1) / 2 : HALF_A_DAY;
  return [first - half, last + half];
}

function options(figure, lines, isAlone) {
  const { kind, unit = "", across } = figure.dataset;
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: colour("--soft"), grid, ticks: grid };
  const place = { label: across ?? "UTC", value: (_, raw) => (raw === null ? "–" : across ? `${raw} %` : day(raw, kind)) };
  return {
    width: figure.clientWidth,
    height: 240,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
    scales: { x: { time: !across, range: kind === "bars" || isAlone ? padded : undefined }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high || 1) * 1.08] } },
    axes: [{ ...axis, space: 90, values: (_, ticks) => ticks.map((tick) => (across ? `${tick} %` : day(tick, kind))) }, { ...axis, size: 64 }],
    series: [place, ...lines.map((line, place) => series(line, place, kind === "bars", unit, isAlone))],
  };
}

export function draw(figure) {
  const table = document.getElementById(figure.dataset.table);
  const lines = columns(table);
  plots.get(figure)?.destroy();
  const [axis, ...drawn] = values(table, lines);
  const isAlone = drawn.every((line) => line.filter((value) => value !== null).length < 2);
  plots.set(figure, new uPlot(options(figure, lines, isAlone), [axis, ...drawn], figure));
}

const figures = [...document.querySelectorAll("figure.plot")];
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) plots.get(target)?.setSize({ width: target.clientWidth, height: 240 });
});
for (const figure of figures) {
  draw(figure);
  resized.observe(figure);
}
dark.addEventListener("change", () => figures.forEach(draw));
