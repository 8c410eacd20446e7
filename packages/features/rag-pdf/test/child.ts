// The process that reads, as the service starts it: `node child.ts`.
import { run } from "../src/children/pdf-text.ts";

process.exitCode = await run(process.argv.slice(2));
