/** What an operator waits for at the terminal: commands against `node -e 0`, interleaved, with the daemon up. */
import { startGateway, BINARY } from "./gateway.ts";
import { median, timed } from "./measure.ts";

export interface CommandTime {
  readonly name: string;
  readonly ms: number;
  readonly aim: string;
}

const COMMANDS: readonly { readonly args: readonly string[]; readonly aim: string }[] = [
  { args: ["status"], aim: "≤ 3 ×" },
  { args: ["config", "get", "gateway.port"], aim: "≤ 3 ×" },
  { args: ["config", "show"], aim: "" },
  { args: ["devices", "list"], aim: "" },
  { args: ["doctor"], aim: "≤ 2000 ms" },
];

/** The first line is `node -e 0`. */
export async function measureCommands(rounds: number): Promise<CommandTime[]> {
  const gateway = await startGateway(60);
  const env = { ...process.env, SVC_HOME: gateway.home };
  const samples = [[], ...COMMANDS.map(() => [])] as number[][];
  for (let round = 0; round < rounds; round += 1) {
    samples[0]!.push(timed(process.execPath, ["-e", "0"]));
    for (const [index, { args }] of COMMANDS.entries()) samples[index + 1]!.push(timed(BINARY, args, env));
  }
  await gateway.stop();
  const names = ["node -e 0", ...COMMANDS.map(({ args }) => `svc ${args.join(" ")}`)];
  const aims = ["", ...COMMANDS.map(({ aim }) => aim)];
  return names.map((name, index) => ({ name, ms: median(samples[index]!), aim: aims[index]! }));
}
