// The card to share: picture, verdict, mistakes against their bound, names, link; as one picture or as a film.

import { state, frameAt, frames, stops } from "./state.js";
import { Gif, paletteOf } from "./gif.js";
import { linkNow } from "./link.js";
import { drawPicture, penOf } from "./picture.js";
import { colors, mark, tint } from "./shapes.js";
import { strip } from "./strip.js";
import { counted, t, whole } from "./texts.js";

export const [WIDTH, HEIGHT] = [1200, 630];
const [PICTURE, EDGE] = [790, 28];
const MOST = 60; // pictures of a film
const SECONDS = 9; // of a film, without the end
const HOLD = 2; // seconds that its end is shown
const TONES = { separable: "good", "quasi-separable": "amber", overlapping: "accent", inseparable: "accent" };

function wrapped(pen, words, width, size, weight) {
  const lines = [];
  for (const word of words.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && pen.width(longer, size, weight) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// Mistakes so far as a bar, in a frame that is as long as the theorem allows; square roots, so that short runs are visible.
function drawBound(pen, paint, x, y, width) {
  const { run } = state;
  const step = frameAt(state.moment);
  if (!step) return;
  const bound = run.proof?.bound ?? null;
  pen.text(counted(Math.min(step.made, run.units?.length ?? Infinity)), x, y, { color: paint.ink, size: 34, weight: 700 });
  if (run.units) return;
  pen.text(bound === null ? t("card_no_bound") : t("chart_limit", { count: whole(bound) }), x + width, y, { color: paint.muted, size: 19, anchor: "end" });
  if (bound === null) return;
  const share = Math.min(1, Math.sqrt(step.made / bound));
  pen.path([[x, y + 22], [x + width, y + 22]], { stroke: paint.faint, width: 12, round: true });
  if (share > 0) pen.path([[x, y + 22], [x + share * width, y + 22]], { stroke: paint.accent, width: 12, round: true });
}

function drawSide(pen, paint) {
  const [x, width] = [PICTURE + EDGE, WIDTH - PICTURE - 2 * EDGE];
  const { kind, words } = strip();
  const tone = paint[TONES[kind]] ?? paint.muted;
  pen.text("separatrix", x, 54, { color: paint.ink, size: 26, weight: 700 });
  const lines = wrapped(pen, words, width - 40, 25, 650).slice(0, 6);
  const high = 34 * lines.length + 36;
  pen.path([[x, 84], [x + width, 84], [x + width, 84 + high], [x, 84 + high]], { fill: tint(tone, paint.paper, 0.14), close: true });
  pen.path([[x + 3, 84], [x + 3, 84 + high]], { stroke: tone, width: 6 });
  lines.forEach((line, at) => pen.text(line, x + 22, 84 + 44 + 34 * at, { color: paint.ink, size: 25, weight: 650 }));
  drawBound(pen, paint, x, 84 + high + 66, width);
  const { columns, classes, labels } = state.shown;
  let y = 84 + high + 142;
  [...new Set(labels)].sort((a, b) => a - b).forEach((label) => {
    mark(pen, label, x + 10, y - 7, 9, { fill: paint.classes[label], stroke: paint.ink, width: 1.4 });
    pen.text(classes[label].slice(0, 26), x + 32, y, { color: paint.ink, size: 20 });
    y += 32;
  });
  pen.text(columns.slice(0, 2).join(" × ").slice(0, 36), x, y + 4, { color: paint.muted, size: 18 });
  const link = linkNow() ?? "";
  pen.text((link.length < 60 ? link : link.slice(0, link.indexOf("#"))).replace(/^https?:\/\//, ""), x, HEIGHT - 34, { color: paint.muted, size: 17 });
}

// Draw the card at the moment that is shown; a film has a bar of its progress.
export function drawCard(surface, ratio, progress = null) {
  const pen = penOf(surface, WIDTH, HEIGHT, ratio);
  const paint = colors();
  pen.path([[0, 0], [WIDTH, 0], [WIDTH, HEIGHT], [0, HEIGHT]], { fill: paint.paper, close: true });
  pen.c.save();
  pen.c.beginPath();
  pen.c.rect(0, 0, PICTURE, HEIGHT);
  pen.c.clip();
  drawPicture(pen, PICTURE, HEIGHT, { size: 1.25 });
  pen.c.restore();
  pen.path([[PICTURE, 0], [PICTURE, HEIGHT]], { stroke: paint.faint, width: 1 });
  drawSide(pen, paint);
  if (progress !== null) pen.path([[0, HEIGHT - 4], [progress * WIDTH, HEIGHT - 4]], { stroke: paint.accent, width: 8 });
}

// The moments of a film, evenly spread over the mistakes, each with the share of the film that is over.
function scenes() {
  const list = stops();
  const count = Math.min(MOST, list.length);
  const last = Math.max(1, count - 1);
  return Array.from({ length: count }, (_, at) => ({ moment: list[Math.round((at * (list.length - 1)) / last)], progress: at / last }));
}

// Draw one scene without disturbing what the page shows.
function drawScene(surface, ratio, { moment, progress }) {
  const { moment: now, blend } = state;
  [state.moment, state.blend] = [moment, 1];
  drawCard(surface, ratio, progress);
  [state.moment, state.blend] = [now, blend];
}

const pause = (seconds) => new Promise((done) => { setTimeout(done, 1000 * seconds); });

export async function cardPicture() {
  const surface = document.createElement("canvas");
  drawCard(surface, 2);
  return new Promise((done) => { surface.toBlob(done, "image/png"); });
}

export async function cardGif(told) {
  const surface = document.createElement("canvas");
  const ratio = 0.75;
  const list = scenes();
  const pixels = () => surface.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, surface.width, surface.height);
  surface.getContext("2d", { willReadFrequently: true });
  const samples = [list[0], list[list.length >> 1], list.at(-1)].map((scene) => {
    drawScene(surface, ratio, scene);
    return pixels();
  });
  const gif = new Gif(surface.width, surface.height, paletteOf(samples));
  for (const [at, scene] of list.entries()) {
    drawScene(surface, ratio, scene);
    gif.add(pixels(), at === list.length - 1 ? 100 * HOLD : (100 * SECONDS) / list.length);
    told((at + 1) / list.length);
    await pause(0);
  }
  return gif.finish();
}

export const videoType = () => ["video/mp4;codecs=avc1.42E01F", "video/mp4"].find((type) => globalThis.MediaRecorder?.isTypeSupported(type)) ?? null;

// Record the film while it is drawn, in the time that it takes to watch it.
export async function cardVideo(told) {
  const surface = document.createElement("canvas");
  const list = scenes();
  drawScene(surface, 1, list[0]);
  const options = { mimeType: videoType(), videoBitsPerSecond: 5_000_000 };
  // with a whole picture every second, nothing of an earlier picture stays
  const recorder = new MediaRecorder(surface.captureStream(30), { ...options, videoKeyFrameIntervalDuration: 1000 });
  const parts = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  const ended = new Promise((done) => { recorder.addEventListener("stop", done); });
  recorder.start();
  for (const [at, scene] of list.entries()) {
    drawScene(surface, 1, scene);
    told((at + 1) / list.length);
    const last = at === list.length - 1;
    for (let left = last ? HOLD : SECONDS / list.length; left > 0; left -= 0.25) {
      await pause(Math.min(0.25, left));
      drawScene(surface, 1, scene); // a recorder keeps no picture that does not change
    }
  }
  recorder.stop();
  await ended;
  return new Blob(parts, { type: "video/mp4" });
}

export const hasFilm = () => frames() > 0;
