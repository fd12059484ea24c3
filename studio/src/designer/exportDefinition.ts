/** Downloads a definition as JSON, or its shown level as an image. */

import { download } from "../api/client";
import { directionIn } from "../editor/commands/positions";
import type { Catalogue } from "../model/descriptors";
import type { Definition } from "../model/document";
import type { Level } from "../model/focus";
import { graphOf } from "../model/graph";
import { placeAll } from "../model/layout";
import { withOutcomeOrder } from "../model/outcomeOrder";
import { paletteOf, toPng, toSvg } from "./imageExport";

export async function exportDefinition(
  document: Definition,
  level: Level,
  catalogue: Catalogue,
  kind: "json" | "svg" | "png",
): Promise<void> {
  if (kind === "json") return download(`${document.id}.json`, JSON.stringify(document, null, 2));
  const shape = graphOf(level, catalogue);
  const direction = level.kind === "flowchart" || level.kind === "states" ? directionIn(level, shape) : "down";
  const places = placeAll(shape, level.kind, direction);
  const picture = toSvg(
    { graph: withOutcomeOrder(shape, places, direction), level: level.kind, direction, places },
    paletteOf(window.document.documentElement),
  );
  if (kind === "svg") return download(`${document.id}.svg`, picture.svg, "image/svg+xml");
  return download(`${document.id}.png`, await toPng(picture));
}
