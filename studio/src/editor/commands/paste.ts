/** Paste and duplicate: copies get new ids and a small offset. */

import { type Clip, copyOf } from "../../model/clipboard";
import type { Activity } from "../../model/document";
import { type Point, positionOf } from "../../model/graph";
import { Ids, withFreshIds } from "../../model/ids";
import { snap } from "../../model/layout";
import { ALLOWED, type Command, refuse } from "../command";
import { levelIn, mayAdd } from "../rules";
import { setActivities, setConnections } from "./levels";

export function paste(clip: Clip, at: Point | null = null, label = "paste"): Command {
  return {
    name: "paste",
    label,
    check: (state, context) =>
      clip.activities.length === 0 ? refuse("There is nothing to paste.") : mayAdd(levelIn(state, context)),
    do(state, context) {
      const level = levelIn(state, context);
      if (!mayAdd(level).ok || clip.activities.length === 0) return state;
      const [fresh, renamed] = withFreshIds(clip.activities, Ids.of(state.document));
      const isChart = level.kind === "flowchart";
      const placed = fresh.map((activity) => shifted(activity, isChart ? shiftOf(clip, at) : null));
      const last = level.activities.findLastIndex((activity) => state.selection.includes(activity.id));
      const index = isChart || last < 0 ? level.activities.length : last + 1;
      let document = setActivities(state.document, level, level.activities.toSpliced(index, 0, ...placed));
      if (isChart && level.container !== null && clip.connections.length > 0) {
        const added = clip.connections.flatMap((item) => {
          const [from, to] = [renamed.get(item.from), renamed.get(item.to)];
          return from === undefined || to === undefined ? [] : [{ ...item, from, to }];
        });
        document = setConnections(document, level.container.id, [...level.connections, ...added]);
      }
      return { ...state, document, selection: placed.map((activity) => activity.id) };
    },
  };
}

export function duplicate(): Command {
  return {
    name: "duplicate",
    label: "duplicate",
    check: (state, context) =>
      copyOf(levelIn(state, context), new Set(state.selection)).activities.length > 0
        ? ALLOWED
        : refuse("Select what to duplicate."),
    do: (state, context) =>
      paste(copyOf(levelIn(state, context), new Set(state.selection)), null, "duplicate").do(state, context),
  };
}

function shiftOf(clip: Clip, at: Point | null): Point {
  if (at === null) return { x: 32, y: 32 };
  const all = clip.activities.flatMap((activity) => positionOf(activity.metadata) ?? []);
  if (all.length === 0) return { x: 0, y: 0 };
  return {
    x: snap(at.x - Math.min(...all.map((point) => point.x))),
    y: snap(at.y - Math.min(...all.map((point) => point.y))),
  };
}

function shifted(activity: Activity, shift: Point | null): Activity {
  const at = positionOf(activity.metadata);
  if (at === null) return activity;
  const { position: _position, ...metadata } = activity.metadata ?? {};
  if (shift !== null)
    return { ...activity, metadata: { ...metadata, position: { x: at.x + shift.x, y: at.y + shift.y } } };
  const { metadata: _metadata, ...bare } = activity;
  return (Object.keys(metadata).length > 0 ? { ...bare, metadata } : bare) as Activity;
}
