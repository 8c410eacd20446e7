/** A tool that is not there: the name was wrong, its feature is not in this build, or the feature has nothing to offer it for. */
import { type CatalogueEntry, SvcError } from "@svc/contract";
import { closest, distance } from "fastest-levenshtein";

/** `chosen`: id of the feature that the config asks for and that is not in this build. */
export function missingTool(
  name: string,
  known: readonly string[],
  catalogue: readonly CatalogueEntry[],
  chosen?: string,
): SvcError {
  const features = catalogue.filter((entry) => entry.tools.includes(name));
  const feature = features.find(({ id }) => id === chosen) ?? features[0];
  if (feature?.planned) {
    return new SvcError(
      "TOOL_UNAVAILABLE",
      `This tool belongs to the feature ${feature.flag}, which is planned and not written yet.`,
    );
  }
  if (feature && !feature.included) {
    return new SvcError(
      "TOOL_UNAVAILABLE",
      `This tool belongs to the feature ${feature.flag}, which is not in this build.`,
      { hint: `Build it in: ${feature.build}` },
    );
  }
  if (feature?.toolsOff) {
    return new SvcError("TOOL_UNAVAILABLE", feature.toolsOff.reason, { hint: feature.toolsOff.hint });
  }
  const near = known.length > 0 ? closest(name, [...known]) : "";
  const guess = near !== "" && distance(name, near) <= 2 ? ` Did you mean ${near}?` : "";
  return new SvcError("TOOL_UNKNOWN", undefined, { hint: `The tools are listed by: svc tools list.${guess}` });
}
