import { create } from "zustand";

export type Theme = "light" | "dark" | "system";

const KEY = "holdfast.theme";
const dark = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;

const resolved = (theme: Theme): "light" | "dark" => (theme === "system" ? (dark?.matches ? "dark" : "light") : theme);

const apply = (theme: Theme): void => {
  document.documentElement.dataset.theme = resolved(theme);
};

export const useTheme = create<{ theme: Theme }>(() => ({
  theme: (localStorage.getItem(KEY) as Theme | null) ?? "system",
}));

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  useTheme.setState({ theme });
  apply(theme);
}

export const isDark = (): boolean => resolved(useTheme.getState().theme) === "dark";

export const switchTheme = (): void => setTheme(isDark() ? "light" : "dark");

export function startTheme(): void {
  apply(useTheme.getState().theme);
  dark?.addEventListener("change", () => apply(useTheme.getState().theme));
}
