/** A command of a feature that this build is without: which feature brings it, and how to get it. */
import { type CatalogueEntry, SvcError } from "@svc/contract";

/** Undefined: no absent feature has a command of this word and action. */
export function absentCommand(
  word: string,
  catalogue: readonly CatalogueEntry[],
  action?: string,
): SvcError | undefined {
  const names = (command: string): boolean =>
    action === undefined ? command.split(" ")[0] === word : command === word || command === `${word} ${action}`;
  const owners = catalogue.filter(({ commands, included }) => commands.some(names) && !included);
  const buildable = owners.find(({ planned }) => !planned);
  if (buildable) {
    const { flag, build } = buildable;
    return new SvcError("FEATURE_ABSENT", `This command belongs to the feature ${flag}, which is not in this build.`, {
      hint: `Build it in: ${build}`,
    });
  }
  const flags = [...new Set(owners.map(({ flag }) => flag))];
  if (flags.length === 0) return undefined;
  const which = flags.length === 1 ? `feature ${flags[0]}, which is` : `features ${flags.join(" and ")}, which are`;
  return new SvcError("FEATURE_PLANNED", `This command belongs to the ${which} planned and not written yet.`, {
    hint: "What there is and what is planned: svc features --all",
  });
}
