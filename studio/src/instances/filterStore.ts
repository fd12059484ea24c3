/** Named filters, stored in this browser. */
import { create } from "zustand";

const KEY = "holdfast.filters";

export type SavedFilter = { name: string; filters: Record<string, string> };

const read = (): SavedFilter[] => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as SavedFilter[];
  } catch {
    return [];
  }
};

export const useSavedFilters = create<{ saved: SavedFilter[] }>(() => ({ saved: read() }));

const write = (saved: SavedFilter[]): void => {
  localStorage.setItem(KEY, JSON.stringify(saved));
  useSavedFilters.setState({ saved });
};

export const keep = (name: string, filters: Record<string, string | undefined>): void =>
  write([
    ...useSavedFilters.getState().saved.filter((one) => one.name !== name),
    {
      name,
      filters: Object.fromEntries(Object.entries(filters).filter((pair): pair is [string, string] => Boolean(pair[1]))),
    },
  ]);

export const drop = (name: string): void => write(useSavedFilters.getState().saved.filter((one) => one.name !== name));
