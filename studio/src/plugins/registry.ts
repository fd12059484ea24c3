/**
 * Plugin API. A plugin is an ES module with one default export, a function that is called with `studio` before the
 * first page
 * is rendered:
 *
 *     export default function (studio) { studio.editor("colour", { mount(element, { value, onChange }) { … } }) }
 *
 * Everything is mounted into an element provided by the Studio, so a plugin needs neither React nor this build.
 * `mount` may
 * return `{ update(properties), unmount() }`. A plugin that fails is reported; the Studio runs without it.
 */
import { create } from "zustand";
import { defineMessages } from "../i18n/messages";
import type { IconName } from "../ui/Icon";
import { toast } from "../ui/Toast";

const t = defineMessages("plugins", { failed: "The plugin {name} could not be loaded: {why}" });

export type Mounted<Properties> = { update?: (properties: Properties) => void; unmount?: () => void };
export type Mount<Properties> = {
  mount: (element: HTMLElement, properties: Properties) => Mounted<Properties> | undefined;
};

export type EditorProperties = {
  value: unknown;
  onChange: (value: unknown) => void;
  schema: Record<string, unknown>;
  readOnly: boolean;
  label: string;
};
export type PanelProperties = { kind: "definition" | "instance"; id: string; data: unknown };
export type PageProperties = { request: (method: string, path: string, body?: unknown) => Promise<unknown> };

export type Panel = Mount<PanelProperties> & { id: string; title: string; on: "definition" | "instance" };
export type PluginPage = Mount<PageProperties> & { path: string; title: string; icon?: IconName };
export type Language = { id: string; title: string; editor?: "python" | "javascript" | "liquid" | "json" | "text" };

type Plugins = {
  editors: Record<string, Mount<EditorProperties>>;
  panels: Panel[];
  pages: PluginPage[];
  languages: Language[];
};

export const usePlugins = create<Plugins>(() => ({ editors: {}, panels: [], pages: [], languages: [] }));

/** The object passed to a plugin. */
export const studio = {
  version: 1,
  editor: (hint: string, editor: Mount<EditorProperties>): void =>
    usePlugins.setState(({ editors }) => ({ editors: { ...editors, [hint]: editor } })),
  panel: (panel: Panel): void => usePlugins.setState(({ panels }) => ({ panels: [...panels, panel] })),
  page: (page: PluginPage): void => usePlugins.setState(({ pages }) => ({ pages: [...pages, page] })),
  language: (language: Language): void =>
    usePlugins.setState(({ languages }) => ({ languages: [...languages, language] })),
};

export type Studio = typeof studio;

/** Editor of a plugin for a hint, if there is one. */
export const pluginEditor = (hint: string): Mount<EditorProperties> | undefined => usePlugins.getState().editors[hint];

export async function loadPlugins(modules: readonly string[]): Promise<void> {
  await Promise.all(
    modules.map(async (name) => {
      try {
        const module = (await import(/* @vite-ignore */ new URL(name, document.baseURI).href)) as {
          default?: (s: Studio) => unknown;
        };
        if (typeof module.default !== "function")
          throw new Error("the module has no default export that is a function");
        await module.default(studio);
      } catch (error) {
        toast.failed(new Error(t("failed", { name, why: error instanceof Error ? error.message : String(error) })));
      }
    }),
  );
}
