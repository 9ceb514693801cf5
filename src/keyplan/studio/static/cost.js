// The cost of the design: sliders for rates and sizes, the monthly cost by access pattern, on demand and provisioned, amplification.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault, go, html, loader, number, usd } from "./lib.js";

const estimate = loader("cost");
const only = signal(null);
// A slider has a logarithmic scale: 0, then 0.01 to 100,000
const STEPS = 140;
const toRate = (at) => at <= 0 ? 0 : Number((10 ** (at / 20 - 2)).toPrecision(2));
const toStep = (rate) => rate > 0 ? Math.round((Math.log10(rate) + 2) * 20) : 0;
const HUES = ["--k0", "--k1", "--k2", "--k3", "--k4", "--k5", "--k6", "--k7", "--k8", "--k9", "--k10", "--k11"];

const parsed = (text) => { try { return text ? JSON.parse(text) : {}; } catch { return {}; } };

function Stack({ parts, label }) {
  const sum = parts.reduce((total, part) => total + (part.usd ?? 0), 0);
  return html`<figure class="stack"><div role="img" aria-label=${`${label}: ${parts.map((part) => `${part.name} ${usd(part.usd)}`).join(", ")}`}>
    ${parts.filter((part) => part.usd > 0).sort((a, b) => b.usd - a.usd).map((part) => html`<span class=${`slice k${part.colour}`} ref=${(node) => { if (node) node.style.flexGrow = String(part.usd / sum); }} title=${`${part.name}: ${usd(part.usd)}`}>${part.usd / sum > (innerWidth > 700 ? 0.09 : 0.3) ? part.name : ""}</span>`)}
    ${sum ? null : html`<span class="quiet">No rates yet: move a slider.</span>`}</div></figure>`;
}

let chart = null;
function Curve({ times }) {
  // The monthly cost at multiples of all rates, in both billing modes
  const holder = useRef(null);
  useEffect(() => {
    let gone = false;
    import("uplot").then(({ default: uPlot }) => {
      if (gone || !holder.current) return;
      const colours = getComputedStyle(document.documentElement);
      const [ink, line] = ["--soft", "--line"].map((name) => colours.getPropertyValue(name).trim());
      chart?.destroy();
      chart = new uPlot({
        width: holder.current.clientWidth, height: 240, scales: { x: { time: false, distr: 3 }, y: { distr: 3 } }, cursor: { drag: { x: false, y: false } },
        axes: [{ stroke: ink, grid: { stroke: line, width: 0.5 }, values: (_, ticks) => ticks.map((tick) => tick >= 1 ? `× ${tick}` : tick === null ? "" : `÷ ${Math.round(1 / tick)}`) }, { stroke: ink, grid: { stroke: line, width: 0.5 }, size: 70, values: (_, ticks) => ticks.map((tick) => tick === null ? "" : `$${tick.toLocaleString("en-US")}`) }],
        series: [{ label: "rates", value: (_, share) => share === null ? "" : `× ${share}` }, ...times.lines.map((line, at) => ({ label: line.name, stroke: colours.getPropertyValue(HUES[at]).trim(), width: 2, dash: at ? [6, 4] : [], value: (_, value) => usd(value) }))],
      }, [times.at, ...times.lines.map((line) => line.values)], holder.current);
    });
    return () => { gone = true; };
  }, [JSON.stringify(times)]);
  return html`<div class="curve" ref=${holder} role="img" aria-label=${`Monthly cost by traffic: ${times.lines.map((line) => `${line.name} ${usd(line.values[times.at.indexOf(1)])} at the given rates, ${usd(line.values.at(-1))} at a hundred times`).join("; ")}`}></div>`;
}

function curve(data) {
  return { at: data.curve.map((point) => point.times), lines: [["on demand", "on_demand"], ["provisioned for the peak", "provisioned"]].map(([name, member]) => ({ name, values: data.curve.map((point) => point[member] || null) })) };
}

export function View({ params }) {
  const given = { rates: parsed(params.rates), bytes: parsed(params.bytes), counts: parsed(params.counts), region: params.region ?? null };
  useEffect(() => { const waiting = setTimeout(() => estimate.load(given), 120); return () => clearTimeout(waiting); }, [JSON.stringify(given)]);
  const { data, error, loading } = estimate.state.value;
  if (!data) return error ? html`<${Fault} error=${error} again=${() => estimate.again()} />` : html`<p class="opening">Pricing …</p>`;
  const put = (member, name, value) => go({ [member]: JSON.stringify({ ...given[member], [name]: value }) }, { replace: true });
  const multiply = (times) => go({ rates: JSON.stringify(Object.fromEntries(data.patterns.map((pattern) => [pattern.pattern, (pattern.per_second ?? 0) * times]))) });
  const amplified = Math.max(...data.patterns.map((pattern) => pattern.amplification ?? 0), 1e-9);
  const bills = data.bills.filter((bill) => !bill.name.includes("Standard-IA"));
  const parts = data.patterns.map((pattern, at) => ({ name: pattern.pattern, usd: pattern.usd_month, colour: at % 12 }));
  const stored = data.targets.map((target) => ({ name: target.name, usd: target.usd_month }));
  return html`
    <div class="page cost" data-loading=${loading ? "" : null}>
      <header class="bar"><h2>${usd(data.chosen.usd ?? data.chosen.known_usd)} per month</h2><span class="quiet">${data.chosen.name}, ${data.prices.region}, prices as of ${data.prices.as_of}</span>
        ${data.patterns.some((pattern) => pattern.per_second) ? null : html`<button class="main" onClick=${() => go({ rates: JSON.stringify(Object.fromEntries(data.patterns.map((pattern) => [pattern.pattern, 1]))) })}>One call of each per second</button>`}
        <button onClick=${() => multiply(10)}>Ten times the traffic</button><button onClick=${() => multiply(0.1)}>A tenth of the traffic</button>
        <button onClick=${() => go({ rates: null, bytes: null, counts: null })}>Reset to declared rates</button>
        <label>Region <select value=${data.region} onChange=${(event) => go({ region: event.target.value })}>${data.regions.map((region) => html`<option>${region}</option>`)}</select></label></header>
      <${Fault} error=${error} />
      <${Stack} parts=${parts} label="Monthly on-demand cost by access pattern" />
      <div class="two even">
        <section><h3>Access patterns</h3><ul class="sliders">${data.patterns.map((pattern, at) => html`<li>
          <label for=${`rate-${pattern.pattern}`}><span class=${`dot k${at % 12}`}></span><span class=${`id ${pattern.kind}`}>${pattern.id}</span> ${pattern.pattern}</label>
          <input id=${`rate-${pattern.pattern}`} type="range" min="0" max=${STEPS} value=${toStep(pattern.per_second ?? 0)} aria-valuetext=${`${pattern.per_second ?? 0} calls per second`} onInput=${(event) => put("rates", pattern.pattern, toRate(Number(event.target.value)))} />
          <input type="number" min="0" step="any" aria-label=${`${pattern.pattern}, calls per second`} value=${pattern.per_second ?? ""} placeholder="0" onChange=${(event) => put("rates", pattern.pattern, Number(event.target.value) || 0)} /><span class="quiet">/s</span>
          <span class="figure" title=${pattern.notes.join("; ")}>${pattern.failure ? "unknown" : usd(pattern.usd_month)}</span>
          <span class="quiet figure">${pattern.failure ? "" : `${usd(pattern.usd_million_calls)} per million · ${[pattern.read_units ? `${number(pattern.read_units)}\u00a0r` : "", pattern.write_units ? `${number(pattern.write_units)}\u00a0w` : ""].filter(Boolean).join(" ")}`}</span></li>`)}</ul></section>
        <section><h3>Billing modes</h3><ul class="bills">${bills.map((bill) => html`<li class=${bill.name === data.chosen.name ? "chosen" : ""}><span>${bill.name}</span><span class="meter"><span ref=${(node) => { if (node) node.style.width = `${100 * bill.known_usd / Math.max(...bills.map((each) => each.known_usd), 1e-9)}%`; }}></span></span><b class="figure">${usd(bill.usd)}</b></li>`)}</ul>
          ${data.patterns.some((pattern) => pattern.per_second) ? html`<${Curve} times=${curve(data)} />` : null}
          <h3>Items</h3><ul class="sliders items-sliders">${data.entities.map((entity) => html`<li><label for=${`bytes-${entity.entity}`}>${entity.entity}</label>
            <input id=${`bytes-${entity.entity}`} type="range" min="4" max="75" value=${Math.round(Math.log2(entity.item_bytes) * 4)} aria-valuetext=${`${entity.item_bytes} bytes`} onInput=${(event) => put("bytes", entity.entity, Math.min(Math.round(2 ** (Number(event.target.value) / 4)), 409600))} /><span class="figure">${number(entity.item_bytes, 9)} bytes</span>
            <input type="number" min="0" aria-label=${`${entity.entity}, number stored`} placeholder="count" value=${entity.count ?? ""} onChange=${(event) => put("counts", entity.entity, Number(event.target.value) || 0)} /><span class="quiet">stored</span></li>`)}</ul>
          <h3>Table and indexes</h3><table><thead><tr><th scope="col">place</th><th scope="col">read units/s</th><th scope="col">write units/s</th><th scope="col">USD per month</th></tr></thead>
            <tbody>${data.targets.map((target) => html`<tr><th scope="row">${target.name}</th><td class="figure">${number(target.average.reads)}</td><td class="figure">${number(target.average.writes)}</td><td class="figure">${usd(target.usd_month)}</td></tr>`)}</tbody></table>
          <h3>Write amplification</h3><ul class="bills">${data.patterns.filter((pattern) => pattern.kind === "write" && pattern.amplification).map((pattern) => html`<li><span>${pattern.pattern}</span><span class="meter amp"><span ref=${(node) => { if (node) node.style.width = `${100 * pattern.amplification / amplified}%`; }}></span></span><b class="figure">× ${number(pattern.amplification)}</b></li>`)}</ul>
          ${data.failures.length ? html`<p class="quiet">Not estimated: ${data.failures.join("; ")}</p>` : null}</section></div>
    </div>`;
}
