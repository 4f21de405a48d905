const words = document.getElementById('words'), kind = document.getElementById('kind'), shader = document.getElementById('shader');
const all = [...document.querySelectorAll('article')], shown = document.getElementById('shown');
function filter() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const one of all) {
    const text = one.textContent.toLowerCase();
    one.hidden = !(wanted.every(word => text.includes(word)) && (!kind.value || one.dataset.kind === kind.value) && (!shader.value || one.dataset.shader === shader.value));
    count += !one.hidden;
  }
  shown.textContent = `${count} of ${all.length}`;
}
for (const field of [words, kind, shader]) field.addEventListener('input', filter);
filter();

// The arrows of a picture, between boxes that the browser has laid out.
const HEAD = { down: 'm-4 -7l4 7l4 -7', right: 'm-7 -4l7 4l-7 4', left: 'm7 -4l-7 4l7 4' };
function draw(picture) {
  const svg = picture.querySelector('svg.arrows'), from = picture.getBoundingClientRect();
  svg.replaceChildren();
  const box = name => {
    const of = picture.querySelectorAll(/^\d+$/.test(name) ? `.event[data-k~="${name}"]` : `.way li.${name}`);
    if (!of.length) return null;
    const all = [...of].map(one => one.getBoundingClientRect());
    const first = all[0], last = all[all.length - 1];
    return { left: first.left - from.left, right: first.right - from.left, top: first.top - from.top, bottom: last.bottom - from.top };
  };
  const path = (kind, d) => {
    const one = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    one.setAttribute('class', kind);
    one.setAttribute('d', d);
    svg.append(one);
  };
  const middle = one => (one.left + one.right) / 2;
  // Where an arrow to or from another box ends: a barrier is as wide as all lanes that it joins.
  const end = (one, other) => one.right - one.left > 1.4 * (other.right - other.left) ? Math.max(one.left + 8, Math.min(one.right - 8, middle(other))) : middle(one);
  // What is missing, and the fix, go beside the boxes of the lane.
  const gutter = (one, kind) => (one.left < from.width / 2 - 1 && one.right < from.width - 24 ? one.right + 10 : one.left > 24 ? one.left - 10 : one.right - 6) + (kind === 'fix' ? 5 : -3);
  for (const arrow of picture.dataset.arrows.split(' ').filter(arrow => arrow)) {
    const [ends, kind] = arrow.split(':'), [a, b] = ends.split('>').map(box);
    if (!a || !b) continue;
    if (kind === 'lacks' || kind === 'fix') {
      if (!ends.startsWith(kind)) {
        const x = Math.max(b.left + 12, Math.min(b.right - (kind === 'fix' ? 12 : 20), gutter(a, kind))), y = a.top + 14;
        const start = x > a.left && x < a.right ? `M${x} ${a.bottom}` : `M${x > middle(a) ? a.right : a.left} ${y}H${x}`;
        path(kind, `${start}V${b.top}`);
        path(kind + ' head', `M${x} ${b.top}${HEAD.down}`);
      } else {
        const x = Math.max(b.left + 8, Math.min(b.right - 8, middle(b) + (kind === 'fix' ? 12 : -12)));
        path(kind, `M${x} ${Math.min(a.bottom, b.top)}V${b.top}`);
        path(kind + ' head', `M${x} ${b.top}${HEAD.down}`);
      }
    } else if (kind === 'wait' && ends.endsWith('lacks')) {
      // Down, beside the boxes below.
      const x = Math.max(b.left + 12, Math.min(b.right - 20, gutter(a, 'lacks'))), y = a.bottom - 9;
      const start = x > a.left && x < a.right ? `M${x} ${a.bottom}` : `M${x > middle(a) ? a.right : a.left} ${y}H${x}`;
      path(kind, `${start}V${b.top}`);
      path(kind + ' head', `M${x} ${b.top}${HEAD.down}`);
    } else if (kind === 'wait') {
      const right = b.left >= a.right, [x, to] = right ? [a.right, b.left] : [a.left, b.right];
      const y = a.bottom - 9, end = b.top + 12, bend = (x + to) / 2;
      path(kind, `M${x} ${y}C${bend} ${y} ${bend} ${end} ${to} ${end}`);
      path(kind + ' head', `M${to} ${end}${right ? HEAD.right : HEAD.left}`);
    } else if (b.top < a.bottom - 1) {
      const right = b.left >= a.right, y = Math.max(a.top, b.top) + Math.min(a.bottom - a.top, b.bottom - b.top) / 2;
      const [x, to] = right ? [a.right, b.left] : [a.left, b.right];
      path(kind, `M${x} ${y}H${to}`);
      path(kind + ' head', `M${to} ${y}${right ? HEAD.right : HEAD.left}`);
      if (kind === 'both') path(kind + ' head', `M${x} ${y}${right ? HEAD.left : HEAD.right}`);
    } else {
      const beside = kind === 'po' ? 0 : middle(a) < middle(b) ? -16 : 16;
      const [x, to] = [end(a, b) - beside, end(b, a) + beside], bend = (a.bottom + b.top) / 2;
      path(kind, `M${x} ${a.bottom}C${x} ${bend} ${to} ${bend} ${to} ${b.top}`);
      path(kind + ' head', `M${to} ${b.top}${HEAD.down}`);
    }
  }
}
const pictures = document.querySelectorAll('.run'), redraw = () => pictures.forEach(draw);
redraw();
for (const name of ['load', 'resize']) addEventListener(name, redraw);
for (const picture of pictures) new ResizeObserver(() => draw(picture)).observe(picture);

// What has the focus explains itself at the lower edge: a keyboard and a finger do not hover.
const said = document.getElementById('said');
function tell(event) {
  const of = event.target.closest('[title]');
  said.hidden = !of;
  said.textContent = of ? of.title : '';
}
document.addEventListener('focusin', tell);
document.addEventListener('focusout', () => { said.hidden = true; });
