/** Commands of the current page, for the command palette and shortcuts. */
import { useEffect } from "react";
import { create } from "zustand";
import type { IconName } from "../ui/Icon";

export type Command = { id: string; label: string; icon?: IconName; keys?: string; run: () => void };

export const useCommands = create<{ sets: Map<string, readonly Command[]> }>(() => ({ sets: new Map() }));

/** Registers commands while the component is mounted. `owner` must be stable. */
export function usePageCommands(owner: string, commands: readonly Command[]): void {
  useEffect(() => {
    useCommands.setState(({ sets }) => ({ sets: new Map(sets).set(owner, commands) }));
  }, [owner, commands]);
  useEffect(
    () => () =>
      useCommands.setState(({ sets }) => {
        const rest = new Map(sets);
        rest.delete(owner);
        return { sets: rest };
      }),
    [owner],
  );
}

/** Fuzzy score: all letters in order; consecutive letters and starts of words score higher. Null: no match. */
export function rank(text: string, typed: string): number | null {
  const low = text.toLowerCase();
  let score = 0;
  let at = -1;
  for (const letter of typed.toLowerCase().replaceAll(" ", "")) {
    const next = low.indexOf(letter, at + 1);
    if (next < 0) return null;
    score += next === at + 1 ? 3 : /\W|^$/.test(low[next - 1] ?? "") ? 2 : 0;
    score -= (next - at) / 100;
    at = next;
  }
  return score;
}
