import { useEffect, useRef } from "react";
import type { Mount, Mounted } from "./registry";

/** Element owned by a plugin. */
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
    // The return value is ignored: React would take it for a clean-up function.
    mounted.current?.update?.(properties);
  }, [properties]);
  return <div ref={place} className="plugin" />;
}
