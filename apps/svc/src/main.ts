/**
 * argv → command. `--version` and the like come before anything heavy is imported: they must start as fast as bare Node. A binary answers a
 * plain `--version` before it loads this (code-cache.ts of @svc/compose), and comes here if it can't be written.
 */
import type { ChildModule, Composition } from "@svc/contract";

/** What the generated entry hands over; see packages/tooling/compose. */
export interface Build {
  readonly version: string;
  readonly commit: string;
  /** Where newer builds are published, and the public keys that sign them. */
  readonly releases: { readonly url: string; readonly keys: readonly string[] };
  /** Imports the build's features and catalogue. */
  readonly load: () => Promise<Composition>;
  /** Imports what a process of a feature's own runs; undefined where this build has none of that name. */
  readonly child: (name: string) => Promise<ChildModule | undefined>;
}

export async function main(build: Build): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) {
    process.stdout.once("error", (error) => void import("./run.ts").then(({ endFor }) => endFor(error)));
    process.stdout.write(`svc ${build.version} (${build.commit})\n`);
    return;
  }
  if (args.length === 2 && args[0] === "--version" && args[1] === "--json") {
    const { SCHEMA_VERSION } = await import("@svc/store");
    const target = `${process.platform}-${process.arch}`;
    const about = { version: build.version, commit: build.commit, target, schema_version: SCHEMA_VERSION };
    process.stdout.write(`${JSON.stringify(about)}\n`);
    return;
  }
  // A feature started it: `svc __<name>`.
  const child = args[0]?.startsWith("__") ? await build.child(args[0].slice(2)) : undefined;
  if (child) {
    process.exitCode = await child.run(args.slice(1));
    return;
  }
  const { shedInherited } = await import("./cli/inherited.ts");
  await shedInherited(args);
  const { runCli } = await import("./run.ts");
  process.exitCode = await runCli(build, args);
}
