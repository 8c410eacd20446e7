/** `profiles/*.toml`: which features a binary has, and how large it may be. */
import { SvcError } from "@svc/contract";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import { didYouMean } from "./problems.ts";
import { idSchema } from "./manifest.ts";
import { readToml } from "./toml.ts";

export interface Budget {
  /** Largest binary in megabytes of 1 000 000 bytes. */
  readonly binary_mb?: number | undefined;
  /** Most JavaScript in all chunks, in kilobytes of 1 000 bytes. */
  readonly js_kb?: number | undefined;
  /** Most JavaScript evaluated before a command is chosen, in kilobytes of 1 000 bytes. */
  readonly entry_kb?: number | undefined;
  /** Most script that a browser fetches for the page, gzipped, in kilobytes of 1 000 bytes. */
  readonly page_kb?: number | undefined;
  /** Most script and style that its first view waits for, likewise. */
  readonly page_first_kb?: number | undefined;
}

export interface Profile {
  readonly name: string;
  readonly file: string;
  readonly summary: string;
  readonly extends?: string | undefined;
  /** Ids of this repository's features, npm names, or paths relative to the file. */
  readonly features: readonly string[];
  /** Ids of features that will join when their packages are written. */
  readonly planned: readonly string[];
  readonly budget: Budget;
}

const atLeastOne = v.pipe(v.number(), v.minValue(1, "at least 1"));

const profileSchema = v.strictObject({
  summary: v.string(),
  extends: v.optional(idSchema),
  features: v.optional(v.array(v.string()), []),
  planned: v.optional(v.array(idSchema), []),
  budget: v.optional(
    v.strictObject({
      binary_mb: v.optional(atLeastOne),
      js_kb: v.optional(atLeastOne),
      entry_kb: v.optional(atLeastOne),
      page_kb: v.optional(atLeastOne),
      page_first_kb: v.optional(atLeastOne),
    }),
    {},
  ),
});

/** Words that are folders of `dist/` or files of `profiles/` with another meaning. */
const RESERVED = new Set(["custom", "planned"]);

/** Smaller profiles (fewer ancestors) first, so that a hint names the smallest one that has a feature. */
export function readProfiles(dir: string): Map<string, Profile> {
  const files = readdirSync(dir).filter((file) => file.endsWith(".toml") && file !== "planned.toml");
  const profiles = new Map<string, Profile>();
  for (const file of files.sort()) {
    const name = basename(file, ".toml");
    if (RESERVED.has(name)) {
      throw new SvcError("PROFILE_INVALID", `A profile can't be called "${name}".`, { hint: "Rename the file." });
    }
    profiles.set(name, { name, file: join(dir, file), ...readToml(join(dir, file), profileSchema) });
  }
  const depth = (name: string): number => profileChain(profiles, name).length;
  return new Map([...profiles].sort(([a], [b]) => depth(a) - depth(b) || a.localeCompare(b)));
}

/**
 * The profile and its ancestors, the oldest first.
 * @throws SvcError PROFILE_INVALID for an unknown ancestor and for a circle.
 */
export function profileChain(profiles: ReadonlyMap<string, Profile>, name: string): Profile[] {
  const chain: Profile[] = [];
  let next: string | undefined = name;
  while (next !== undefined) {
    const profile = profiles.get(next);
    const child = chain[0];
    if (profile === undefined || chain.includes(profile)) {
      const what = profile === undefined ? "an unknown profile" : "itself";
      throw new SvcError("PROFILE_INVALID", `${child?.file ?? name}: extends ${what}.`, {
        hint: `Profiles: ${[...profiles.keys()].join(", ")}.${didYouMean(next, [...profiles.keys()])}`,
      });
    }
    chain.unshift(profile);
    next = profile.extends;
  }
  return chain;
}
