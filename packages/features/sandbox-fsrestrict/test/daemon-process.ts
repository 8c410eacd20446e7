/** A daemon of a test: runs one command that hides a grandchild, says so, and waits to be killed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openBackend } from "./open-backend.ts";

const { backend, confinement, clock } = openBackend();
const session = await backend.open(confinement);
void session.exec({ command: "setsid env -i /bin/sh -c 'echo $$ > hidden; exec sleep 600' & sleep 600" });
setInterval(() => {
  void clock.advance(100);
  if (existsSync(join(confinement.workspace, "hidden"))) process.stdout.write(`${confinement.workspace}\n`);
}, 50);
