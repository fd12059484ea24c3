/** Activity descriptors of the server, cached. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import { type ActivityDescriptor, Catalogue } from "../model/descriptors";

export const descriptors = queryOptions({
  queryKey: ["descriptors", "activities"],
  queryFn: async ({ signal }) => {
    const response = await api.get<{ items: ActivityDescriptor[] } | ActivityDescriptor[]>(
      "/api/descriptors/activities",
      {},
      signal,
    );
    return new Catalogue(Array.isArray(response) ? response : response.items);
  },
  staleTime: 5 * 60_000,
  structuralSharing: false,
});

const NONE = new Catalogue();

export function useCatalogue(): { catalogue: Catalogue; isLoading: boolean; error: unknown; retry: () => void } {
  const query = useQuery(descriptors);
  return {
    catalogue: query.data ?? NONE,
    isLoading: query.isPending,
    error: query.error,
    retry: () => void query.refetch(),
  };
}
