/** How a feature starts the processes of its own that its manifest lists. */
import type { CatalogueEntry, FeatureContext } from "@svc/contract";
import { selfCommand } from "./self-command.ts";

export function childCommands(entry: CatalogueEntry | undefined): FeatureContext["child"] {
  return (name) => {
    if (!entry?.children.includes(name)) throw new TypeError(`the manifest lists no child named ${name}`);
    const { file, args } = selfCommand();
    return [file, ...args, `__${name}`];
  };
}
