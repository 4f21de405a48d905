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
