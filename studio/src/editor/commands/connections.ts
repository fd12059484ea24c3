/** Commands on connections of a flowchart. */

import type { Connection } from "../../model/document";
import { STATE } from "../../model/graph";
import { type Json, setAt } from "../../model/json";
import type { Command } from "../command";
import { levelIn, mayConnect } from "../rules";
import { connection, setConnections, withDocument } from "./levels";
import { addTransition } from "./states";

export function connect(from: string, outcome: string | null, to: string): Command {
  if (from.startsWith(STATE)) return addTransition(from, to);
  return {
    name: "connect",
    label: "connect",
    check: (state, context) => mayConnect(levelIn(state, context), context.catalogue, from, outcome, to),
    do(state, context) {
      const level = levelIn(state, context);
      if (level.container === null) return state;
      const next = [...level.connections, connection(from, outcome, to)];
      return withDocument(state, setConnections(state.document, level.container.id, next));
    },
  };
}

export function disconnect(index: number): Command {
  return {
    name: "disconnect",
    label: "disconnect",
    do(state, context) {
      const level = levelIn(state, context);
      if (level.container === null || level.connections[index] === undefined) return state;
      const next = level.connections.toSpliced(index, 1);
      return { ...withDocument(state, setConnections(state.document, level.container.id, next)), selection: [] };
    },
  };
}

/** Changes one end or the outcome of a connection. */
export function redirect(index: number, change: { from?: string; to?: string; outcome?: string | null }): Command {
  return {
    name: "redirect",
    label: "redirect the connection",
    do(state, context) {
      const level = levelIn(state, context);
      const before = level.connections[index];
      if (level.container === null || before === undefined) return state;
      const from = change.from ?? before.from;
      const to = change.to ?? before.to;
      const outcome = change.outcome === undefined ? (before.outcome ?? null) : change.outcome;
      const isSame = from === before.from && to === before.to && (outcome ?? "Done") === (before.outcome ?? "Done");
      if (isSame || !mayConnect(level, context.catalogue, from, outcome, to).ok) return state;
      const { outcome: _outcome, from: _from, to: _to, ...rest } = before;
      const next: Connection = { ...connection(from, outcome, to), ...rest };
      return withDocument(
        state,
        setConnections(state.document, level.container.id, level.connections.with(index, next)),
      );
    },
  };
}

/** Sets the delay of a connection: the target is scheduled that much later. */
export function setConnectionKey(index: number, key: "delay", value: Json | undefined): Command {
  return {
    name: "set-connection",
    label: `set ${key}`,
    merge: `connection ${index} ${key}`,
    do(state, context) {
      const level = levelIn(state, context);
      const before = level.connections[index];
      if (level.container === null || before === undefined) return state;
      const next = level.connections.with(index, setAt(before, [key], value));
      return withDocument(state, setConnections(state.document, level.container.id, next));
    },
  };
}
