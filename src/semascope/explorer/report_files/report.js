"use strict";
const topics = [...document.querySelectorAll(".topic")];
const texts = topics.map((topic) => topic.textContent.toLowerCase());
const tools = document.querySelector(".tools");
const box = tools.querySelector("input");
const button = tools.querySelector("button");
const count = tools.querySelector("output");
tools.hidden = false;

function filter() {
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  topics.forEach((topic, i) => {
    topic.hidden = !wanted.every((word) => texts[i].includes(word));
    shown += !topic.hidden;
  });
  count.value = wanted.length ? `${shown} of ${topics.length}` : "";
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || !target.classList.contains("topic")) return;
  if (target.hidden) {
    box.value = "";
    filter();
  }
  target.open = true;
  target.scrollIntoView();
}

function openAll(open) {
  topics.forEach((topic) => { topic.open = open; });
  button.textContent = open ? "Close all" : "Open all";
}

box.addEventListener("input", filter);
button.addEventListener("click", () => openAll(!topics.every((topic) => topic.open)));
addEventListener("hashchange", openTarget);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  }
});
let openBefore = [];
addEventListener("beforeprint", () => {
  openBefore = topics.filter((topic) => topic.open);
  openAll(true);
});
addEventListener("afterprint", () => {
  openAll(false);
  openBefore.forEach((topic) => { topic.open = true; });
});
openTarget();
