/** A virtual machine with simulated GPIO and I2C, whose kernel `guest-kernel.sh` brings. It sees this machine's files, and changes none. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";

const FOLDER = process.env["SVC_GUEST"] ?? "/srv/svc-guest";

/** Undefined: all is there. `programs`: others that its script runs. */
export function missingGuest(programs: readonly string[] = []): MissingPart | undefined {
  const needed = ["qemu-system-x86_64", ...programs];
  const absent = needed.find((program) => spawnSync(program, ["--version"]).error !== undefined);
  const script = "packages/tooling/testkit/src/real/guest-kernel.sh";
  if (absent !== undefined) return { name: "the hardware guest", tier: "B", reason: `${absent} is not on PATH` };
  if (existsSync(join(FOLDER, "vmlinuz")) && process.arch === "x64") return undefined;
  return { name: "the hardware guest", tier: "B", reason: `there is no kernel in ${FOLDER}; run ${script}` };
}

/**
 * Runs a script of bash as root of the guest. Resolves with its output; rejects with it when its exit code is not 0. An emulator
 * that ends before the script begins, as it now and then does on a busy machine, is started again, three times at most.
 */
export async function runInGuest(script: string): Promise<string> {
  const home = temporaryHome();
  const file = join(home.path, "script");
  writeFileSync(file, `echo ${STARTED}\n${script}`);
  try {
    for (let starts = 1; ; starts += 1) {
      const { text, ending } = await boot(file);
      if (/^guest-exit 0$/m.test(text)) return text;
      if (text.includes(STARTED) || starts === 3) {
        throw new Error(`the guest's script failed; qemu ended with ${ending}:\n${text.slice(-4000)}`);
      }
    }
  } finally {
    home.remove();
  }
}

const STARTED = "guest-script-started";

async function boot(file: string): Promise<{ readonly text: string; readonly ending: string }> {
  const machine = [
    "-accel",
    "tcg,thread=single",
    "-icount",
    "shift=0,sleep=off",
    "-cpu",
    "max",
    "-m",
    "1536",
    "-smp",
    "2",
    "-nographic",
    "-no-reboot",
  ];
  const system = ["-kernel", join(FOLDER, "vmlinuz"), "-initrd", join(FOLDER, "initrd.gz")];
  const line = ["-append", `console=ttyS0 quiet panic=-1 svc.script=${file}`];
  const files = ["-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"];
  const device = ["-device", "virtio-9p-pci,fsdev=host,mount_tag=host", "-nic", "none"];
  const child = spawn("qemu-system-x86_64", [...machine, ...system, ...line, ...files, ...device], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  try {
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) =>
      child.once("close", (...ending) => resolve(ending)).once("error", reject),
    );
    return { text: output.replaceAll("\r", ""), ending: `${signal ?? code}` };
  } finally {
    process.off("exit", end);
  }
}
