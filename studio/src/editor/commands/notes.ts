/** Commands on sticky notes of a canvas and comments of an activity. */

import { placesOf } from "../../model/document";
import { type Comment, notesOf, type Point } from "../../model/graph";
import { isList, type Json, type JsonObject, setAt } from "../../model/json";
import { snap } from "../../model/layout";
import { ALLOWED, type Command, type EditorState, refuse } from "../command";
import { levelIn } from "../rules";
import { changeActivity, setInside, withDocument } from "./levels";

function setNotes(state: EditorState, container: string, notes: readonly JsonObject[]): EditorState {
  return changeActivity(state, container, (activity) =>
    setInside(activity, "metadata", "notes", notes.length > 0 ? notes : undefined),
  );
}

function rawNotes(state: EditorState, container: string): readonly JsonObject[] {
  const activity = placesOf(state.document).get(container)?.activity;
  return notesOf(activity ?? null).map((note) => ({ ...note }));
}

export function addNote(at: Point, text = ""): Command {
  return {
    name: "add-note",
    label: "add a note",
    check: (state, context) =>
      levelIn(state, context).container === null ? refuse("A note needs a container that shows it.") : ALLOWED,
    do(state, context) {
      const { container } = levelIn(state, context);
      if (container === null) return state;
      const notes = rawNotes(state, container.id);
      const used = new Set(notes.map((note) => note.id));
      let number = notes.length + 1;
      while (used.has(`note${number}`)) number += 1;
      const note = { id: `note${number}`, text, x: snap(at.x), y: snap(at.y), width: 200, height: 104, tone: "wait" };
      return { ...setNotes(state, container.id, [...notes, note]), selection: [`note:${note.id}`] };
    },
  };
}

export function changeNote(
  id: string,
  change: { text?: string; width?: number; height?: number; tone?: string },
): Command {
  return {
    name: "change-note",
    label: "edit the note",
    merge: `note ${id} ${Object.keys(change).join(" ")}`,
    do(state, context) {
      const { container } = levelIn(state, context);
      if (container === null) return state;
      const notes = rawNotes(state, container.id);
      if (!notes.some((note) => note.id === id)) return state;
      return setNotes(
        state,
        container.id,
        notes.map((note) => (note.id === id ? { ...note, ...change } : note)),
      );
    },
  };
}

export function removeNotes(state: EditorState, container: string, chosen: ReadonlySet<string>): EditorState {
  return setNotes(
    state,
    container,
    rawNotes(state, container).filter((note) => !chosen.has(`note:${String(note.id)}`)),
  );
}

export function addComment(id: string, comment: Comment): Command {
  return {
    name: "add-comment",
    label: "comment",
    do(state) {
      const path = placesOf(state.document).get(id)?.path;
      if (path === undefined) return state;
      const before = placesOf(state.document).get(id)?.activity.metadata?.comments;
      const next: Json = [...(isList(before) ? before : []), { ...comment }];
      return withDocument(state, setAt(state.document, [...path, "metadata", "comments"], next));
    },
  };
}

export function removeComment(id: string, index: number): Command {
  return {
    name: "remove-comment",
    label: "remove a comment",
    do: (state) =>
      changeActivity(state, id, (activity) => {
        const before = activity.metadata?.comments;
        const next = isList(before) ? before.toSpliced(index, 1) : [];
        return setInside(activity, "metadata", "comments", next.length > 0 ? next : undefined);
      }),
  };
}
