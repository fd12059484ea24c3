import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { request } from "../api/client";
import { PluginMount } from "../plugins/PluginMount";
import { usePlugins } from "../plugins/registry";
import { Heading } from "../ui";
import { NotFound } from "./NotFound";

export function PluginPage() {
  const { path } = useParams({ strict: false });
  const page = usePlugins(({ pages }) => pages.find((one) => one.path === path));
  const properties = useMemo(
    () => ({
      request: async (method: string, to: string, body?: unknown): Promise<unknown> =>
        (await request(method, to, body === undefined ? {} : { body })).json(),
    }),
    [],
  );
  if (!page) return <NotFound />;
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{page.title}</Heading>
      </header>
      <PluginMount mount={page} properties={properties} />
    </div>
  );
}
