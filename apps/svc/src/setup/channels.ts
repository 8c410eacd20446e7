/**
 * The channels of this build that can be set up, and what each must be told. All of it is read from manifests and
 * schemas, so that a channel that is built in later needs no line here.
 */
import { type CatalogueEntry, type FeatureDefinition, featureIdOf } from "@svc/contract";
import { type SchemaKey, walkSchema } from "@svc/config";

export interface ChannelSetup {
  /** What `--channel` takes. */
  readonly id: string;
  /** Its section, dotted. */
  readonly section: string;
  readonly summary: string;
  /** Keys that have no default, and those whose schema says so. */
  readonly asked: readonly SchemaKey[];
  /** Secrets that are ours to choose. */
  readonly generated: readonly SchemaKey[];
  /** Core's own needs no `enabled`; a feature's section may be there for other reasons. */
  readonly core: boolean;
}

const PREFIX = "channels_config.";

/** Core's webhook first. */
export function channelsOf(
  features: readonly FeatureDefinition[],
  catalogue: readonly CatalogueEntry[],
): readonly ChannelSetup[] {
  const keys = walkSchema(features);
  const kinds = new Map(catalogue.map((entry) => [entry.id, entry]));
  const own = features.flatMap((part) => {
    const { section } = part;
    const entry = kinds.get(featureIdOf(part));
    return entry?.kind === "channel" && section !== undefined ? [{ section, summary: entry.summary, core: false }] : [];
  });
  const webhook = { section: `${PREFIX}webhook`, summary: "Programs of yours, by POST /webhook", core: true };
  return [webhook, ...own].map((channel) => ({
    ...channel,
    id: channel.section.replace(PREFIX, ""),
    asked: askedKeys(keys, channel.section),
    generated: keys.filter(({ section, node }) => section === channel.section && node.marks.generate),
  }));
}

/** Values without a default at the end of a way of required tables, and what is marked; those aside that are generated. */
function askedKeys(keys: readonly SchemaKey[], section: string): readonly SchemaKey[] {
  const own = keys.filter((key) => key.section === section);
  const optional = own.filter(({ node }) => !node.required);
  const isBelow = (key: string, other: SchemaKey): boolean => key.startsWith(`${other.key}.`);
  return own.filter(
    ({ key, path, node }) =>
      (node.required || node.marks.ask) &&
      !node.entries &&
      !node.marks.generate &&
      !path.includes("*") &&
      !path.includes("[]") &&
      !optional.some((other) => isBelow(key, other)),
  );
}
