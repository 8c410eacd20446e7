/** `svc hardware info --chip <chip>`: what the chip says of itself. */
import { type FeatureCommandContext, SvcError } from "@svc/contract";
import { findProgram } from "@svc/kit/process";

type Context = FeatureCommandContext<{ readonly gdb_server?: string }>;

interface ChipInfo {
  readonly chip: string;
  readonly board: string;
  readonly identified: boolean;
  readonly device_id: string | null;
  readonly revision: string | null;
  readonly memory: readonly {
    readonly name: string;
    readonly start: string;
    readonly bytes: number;
    readonly live: boolean;
  }[];
}

/** Throws NOT_CONFIGURED without `hardware.gdb_server`, and what the chip's server or the daemon says. */
export async function run({ options, config, isEnabled, ask, print, printJson }: Context): Promise<number> {
  if (!isEnabled || (config?.gdb_server === undefined && (await findProgram("openocd")) === undefined)) {
    throw new SvcError(
      "NOT_CONFIGURED",
      "No debug probe is configured: hardware.gdb_server is not set, and openocd is not installed.",
      {
        hint: 'Set gdb_server = "127.0.0.1:3333" in [hardware] to the address of OpenOCD, st-util or probe-rs, or install openocd.',
      },
    );
  }
  const chip = options.text("chip");
  const info = (await ask({
    method: "GET",
    path: "/api/hardware/chip",
    ...(chip !== undefined && { query: { chip } }),
  })) as unknown as ChipInfo;
  if (options.flag("json")) printJson(info);
  else for (const line of linesOf(info)) print(line);
  return 0;
}

const linesOf = ({ chip, board, identified, device_id: id, revision, memory }: ChipInfo): string[] => [
  `${chip} (${board})`,
  identified ? `  device id  ${id}, revision ${revision}` : "  device id  none; using the chip from --chip",
  ...memory.map(
    ({ name, start, bytes, live }) =>
      `  ${name.padEnd(9)}  ${start}, ${bytes / 1024} KiB (${live ? "read from the chip" : "data sheet"})`,
  ),
];
