/**
 * A program that is started as OpenOCD is, and does what the name of its script says: a test puts it on a PATH under that name. It says in
 * the file `<script>.pid` which process it is.
 */
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { nucleoMemory, startGdbServer } from "./gdb-server.ts";

const args = process.argv.slice(2);
const script = args[args.indexOf("-f") + 1]!;
const port = Number(/gdb_port (\d+)/.exec(args.join(" "))?.[1]);
const behaviour = basename(script);
if (behaviour === "never-listens-and-never-ends") process.on("SIGTERM", () => undefined);
writeFileSync(`${script}.pid`, String(process.pid));

switch (behaviour) {
  case "works":
  case "ends-in-the-middle": {
    const isSound = behaviour === "works";
    await startGdbServer({
      port,
      memory: nucleoMemory(),
      answer: (command) => (isSound || !command.startsWith("m2000") ? undefined : process.exit(1)),
    });
    console.error(`Info : Listening on port ${port} for gdb connections`);
    break;
  }
  case "finds-no-adapter":
    console.error("Info : clock speed 2000 kHz\nError: open\u001b[2J failed\n");
    process.exitCode = 1;
    break;
  default:
    setInterval(() => undefined, 1000);
}
