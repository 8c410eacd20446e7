/** What a hostile command tries. Whether it got through is looked at from outside, or is a secret in what it printed. */
import type { Confinement, ExecResult } from "@svc/contract";
import { type Check, demand } from "../../check.ts";
import { type Opened, openIn, said } from "./open.ts";
import type { SandboxBench } from "./subject.ts";
import type { World } from "./world.ts";

export interface Attack<Scene = unknown> {
  /** Perl, after the prelude of perl.ts. */
  readonly script: string;
  readonly args?: (world: World, scene: Scene) => readonly string[];
  readonly asked?: Partial<Confinement>;
  /** What is there outside while it runs: a listener, a process. */
  readonly scene?: (world: World) => (Scene & AsyncDisposable) | Promise<Scene & AsyncDisposable>;
  /** Default: it printed the canary. */
  readonly gotThrough?: (seen: { opened: Opened; result: ExecResult; scene: Scene }) => boolean | Promise<boolean>;
  /** The sandbox lets it through on purpose (the network is on). */
  readonly allowed?: boolean;
  /** False: can't be shown to work without a sandbox here, so nothing but the refusal is seen. Default true. */
  readonly provable?: boolean;
}

/** A check that tries it without a sandbox first: what fails there too proves nothing. */
export const attackCheck = <Scene>(bench: SandboxBench, name: string, attack: Attack<Scene>): Check => ({
  name,
  async run() {
    if (attack.provable ?? true) {
      const bare = await tried(bench, "unconfined", attack);
      demand(
        bare.through,
        `the check proves nothing here: without a sandbox it does not get through either: ${bare.said}`,
      );
    }
    const { through, said: what } = await tried(bench, "confined", attack);
    if (attack.allowed) demand(through, `it should get through and does not: ${what}`);
    else demand(!through, `it gets through: ${what}`);
  },
});

async function tried<Scene>(
  bench: SandboxBench,
  how: "confined" | "unconfined",
  { script, args, asked, scene: set, gotThrough = sawSecret }: Attack<Scene>,
): Promise<{ through: boolean; said: string }> {
  await using opened = await openIn(bench, how, asked);
  const made = await set?.(opened.world);
  await using _scene = made;
  const scene = made as Scene;
  const result = await opened.perl(script, args?.(opened.world, scene));
  return { through: await gotThrough({ opened, result, scene }), said: said(result) };
}

const sawSecret = ({ opened, result }: { opened: Opened; result: ExecResult }): boolean =>
  `${result.stdout}${result.stderr}`.includes(opened.world.secret);
