/** What `svc __sandbox-exec` runs, from the sources. */
import { run } from "../src/children/sandbox-exec.ts";

process.exitCode = await run();
