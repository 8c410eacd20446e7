/** `pnpm build`: profile → `dist/<profile>/svc`. */
import { performance } from "node:perf_hooks";
import { parseBuildArgs, type BuildArgs } from "./args.ts";
import { build, type BuildResult } from "./build.ts";
import { readCatalogue } from "./catalogue.ts";
import { lines } from "./reporter.ts";
import { tellError } from "./tell-error.ts";
import { slashed, workspaceRoot } from "./workspace.ts";

const HELP = `pnpm build [profile] [--with a,b] [--without c]

Makes one self-contained binary. Without a profile: minimal.

  --with a,b      add features: a flag, a package's id, an npm package, a path (./my-feature)
  --without c     leave features out
  --target name   linux-x64, linux-arm64, win-x64, darwin-arm64, darwin-x64 (default: this machine)
  --all           every profile
  --force         also when nothing changed
  --json          print the result as JSON (progress goes to stderr)

Examples
  pnpm build                              dist/minimal/svc
  pnpm build full                         dist/full/svc
  pnpm build minimal --without tool-http  dist/custom/svc
  pnpm build --with ./my-feature          dist/custom/svc
  pnpm build --target linux-arm64         dist/minimal-linux-arm64/svc
  pnpm build home --target win-x64        dist/home-win-x64/svc.exe

Exit codes: 64 wrong arguments, 65 a manifest or source is wrong, 78 the profile can't be built.
`;

try {
  const args = parseBuildArgs(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd());
  if (args.help) process.stdout.write(HELP);
  else await run(args);
} catch (error) {
  tellError(error, process.argv.includes("--json"));
}

async function run({ request, all, force, json }: BuildArgs): Promise<void> {
  const profiles = all ? [...readCatalogue().profiles.keys()] : [request.profile];
  const results: BuildResult[] = [];
  for (const profile of profiles) {
    const startMs = performance.now();
    const reporter = lines(process.stderr, () => performance.now());
    const result = await build({ ...request, profile, force, reporter });
    results.push(result);
    if (!json) process.stdout.write(`${sentence(result, performance.now() - startMs)}\n`);
  }
  if (json) process.stdout.write(`${JSON.stringify(all ? results : results[0], null, 2)}\n`);
}

function sentence({ binary, record, reason }: BuildResult, tookMs: number): string {
  const file = slashed(workspaceRoot, binary);
  const size = `${(record.binary.bytes / 1e6).toFixed(1)} MB`;
  const what = `${file}  ${size}  ${record.features.length} features  ${record.version} (${record.commit})`;
  const took = `${(tookMs / 1000).toFixed(1)} s`;
  return reason === undefined ? `${what}\nup to date (${took})` : `${what}\nbuilt in ${took} (${reason})`;
}
