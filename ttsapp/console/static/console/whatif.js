// What if: a million characters at another price, speed and use. The formula is the page's own:
// 1e6 * P / (3600 * T * U), P with the fixed cost of an hour.
import { draw } from "./plots.js";

const form = document.getElementById("whatif");
const fields = form.elements;
const figure = document.querySelector("figure[data-table='whatif-table']");
const currency = form.dataset.currency;

const money = (amount) => amount.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: amount < 1 ? 4 : 2 });
const percent = (share) => `${(100 * share).toLocaleString(undefined, { maximumFractionDigits: 1 })} %`;

function cost(use) {
  const hour = Number(fields.price.value) + Number(fields.fixed.value);
  return (1e6 * hour) / (3600 * Number(fields.speed.value) * use);
}

function say(name, text) {
  document.getElementById(name).textContent = text;
}

function show() {
  const use = Number(fields.use.value) / 100;
  const revenue = Number(fields.revenue.value);
  const price = Number(fields.price.value);
  const isKnown = Number(fields.speed.value) > 0 && price > 0;
  say("whatif-use", percent(use));
  say("whatif-hour", price > 0 ? `${money(price)} ${currency}` : "–");
  say("whatif-cost", isKnown ? `${money(cost(use))} ${currency}` : "–");
  say("whatif-margin", isKnown && revenue > 0 ? percent((revenue - cost(use)) / revenue) : "–");
  say("whatif-even", isKnown && revenue > 0 ? percent(cost(1) / revenue) : "–");
  for (const row of document.getElementById("whatif-table").tBodies[0].rows) {
    const [, spent, earned] = row.cells;
    const amount = isKnown ? cost(Number(row.dataset.x) / 100) : null;
    spent.dataset.value = amount ?? "";
    spent.textContent = amount === null ? "–" : money(amount);
    earned.dataset.value = revenue > 0 ? revenue : "";
    earned.textContent = revenue > 0 ? money(revenue) : "–";
  }
  draw(figure);
}

// Three times the price of today is as far as a slider need go.
function setPrice(price) {
  fields.price.max = Math.ceil(3 * price) || 20;
  fields.price.value = price;
}

setPrice(Number(fields.price.getAttribute("value")));
fields.engine.addEventListener("change", () => {
  const chosen = fields.engine.selectedOptions[0].dataset;
  if (chosen.price) setPrice(Number(chosen.price));
  if (chosen.speed) fields.speed.value = chosen.speed;
});
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
show();
