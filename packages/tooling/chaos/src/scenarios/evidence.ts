/** The home of a run that did not hold, where it can be looked at. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Lived {
  readonly home: string;
  readonly lives: { output(): string };
}

export function keepEvidence({ home, lives }: Lived, folder: string): void {
  // Sockets can't be copied.
  cpSync(home, folder, { recursive: true, filter: (path) => path !== join(home, "run") });
  writeFileSync(join(folder, "output-of-all-lives.log"), lives.output());
}
