// Undo and redo: whole states of points and settings.

import { restore, snapshot, tell } from "./state.js";

const MOST = 200;
let past = [];
let future = [];
let present = null;

export function forget() {
  present = snapshot();
  past = [];
  future = [];
  tell("history");
}

export function commit() {
  const now = snapshot();
  if (now === present) return;
  if (present !== null) past.push(present);
  if (past.length > MOST) past.shift();
  present = now;
  future = [];
  tell("history");
}

export function undo() {
  if (!past.length) return false;
  future.push(present);
  present = past.pop();
  restore(present);
  tell("history");
  return true;
}

export function redo() {
  if (!future.length) return false;
  past.push(present);
  present = future.pop();
  restore(present);
  tell("history");
  return true;
}

export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;
