import { useEffect, useRef } from "react";
import type { Mount, Mounted } from "./registry";

/** A place on the page that belongs to a plugin. */
export function PluginMount<Properties>({ mount, properties }: { mount: Mount<Properties>; properties: Properties }) {
  const place = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted<Properties> | undefined>(undefined);
  const latest = useRef(properties);
  latest.current = properties;
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    mounted.current = mount.mount(element, latest.current) ?? undefined;
    return () => {
      mounted.current?.unmount?.();
      element.replaceChildren();
    };
  }, [mount]);
  useEffect(() => {
    // Whatever a plugin returns from here is not ours to keep.
    mounted.current?.update?.(properties);
  }, [properties]);
  return <div ref={place} className="plugin" />;
}
