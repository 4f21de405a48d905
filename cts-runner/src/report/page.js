"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const body = document.querySelector("#cases tbody");
  const heads = [...document.querySelectorAll("#cases th")];
  const off = new Set();
  const step = 300;
  let key = 0, down = false, limit = step, rows = data.cases;

  const matcher = (text) => {
    const literal = (part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
    const expression = new RegExp(text.split("*").map(literal).join(".*"), "i");
    return (row) => expression.test(row[0]) || expression.test(row[5]);
  };

  const cell = (row, tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    row.append(made);
    return made;
  };

  const draw = () => {
    body.replaceChildren();
    for (const [name, status, micros, tries, expected, text] of rows.slice(0, limit)) {
      const row = document.createElement("tr");
      const first = cell(row, "td", "");
      cell(first, "code", name);
      if (text && (!expected || data.statuses[status][0] !== "Pass")) cell(first, "div", text, "why");
      cell(cell(row, "td", ""), "span", data.statuses[status][0] + (tries > 1 ? " ×" + tries : ""), "tag " + data.statuses[status][1]);
      cell(row, "td", (micros / 1e6).toFixed(3), "number");
      body.append(row);
    }
    element("shown").textContent = rows.length + " of " + data.cases.length;
    element("more").hidden = rows.length <= limit;
    heads.forEach((head, index) => { head.classList.toggle("up", index === key && !down); head.classList.toggle("down", index === key && down); });
  };

  const filter = () => {
    const matches = matcher(element("text").value.trim());
    rows = data.cases.filter((row) => !off.has(row[1]) && matches(row));
    const order = (a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : a[0] < b[0] ? -1 : 1);
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    limit = step;
    draw();
  };

  data.statuses.forEach(([name], index) => {
    const chip = document.createElement("button");
    chip.textContent = name;
    chip.onclick = () => {
      if (!off.delete(index)) off.add(index);
      chip.classList.toggle("off", off.has(index));
      filter();
    };
    element("chips").append(chip);
  });
  heads.forEach((head, index) => {
    head.onclick = () => { down = key === index ? !down : index === 2; key = index; filter(); };
  });
  element("text").oninput = filter;
  element("more").onclick = () => { limit += step; draw(); };
  filter();
})();
