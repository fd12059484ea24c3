/** Items that need attention, grouped by cause: one cause often affects many instances. */

import type { Statistics } from "../api/types";

export type Attention = Statistics["needs_attention"][number];

export interface CauseGroup {
  /** The newest item. */
  readonly one: Attention;
  readonly count: number;
}

/** Keeps the order; the newest comes first. */
export function groupByCause(found: readonly Attention[]): CauseGroup[] {
  const byCause = new Map<string, CauseGroup>();
  for (const one of found) {
    const cause = `${one.kind} ${one.message}`;
    const known = byCause.get(cause);
    byCause.set(cause, known === undefined ? { one, count: 1 } : { ...known, count: known.count + 1 });
  }
  return [...byCause.values()];
}
