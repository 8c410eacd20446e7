/** Runs checks over a workspace and says what came of it. */
import { ERRORS } from "@svc/contract";
import type { GeneratedPage } from "@svc/docs";
import type { Check, Finding } from "./check.ts";
import { architecturePage } from "./checks/architecture-page.ts";
import { clientId } from "./checks/client-id.ts";
import { conformance } from "./checks/conformance.ts";
import { dependencies } from "./checks/dependencies.ts";
import { docCommands } from "./checks/doc-commands.ts";
import { docLinks } from "./checks/doc-links.ts";
import { errorCodes } from "./checks/error-codes.ts";
import { fileWalks } from "./checks/file-walks.ts";
import { folderWalls } from "./checks/folder-walls.ts";
import { generatedPages } from "./checks/generated-pages.ts";
import { layers } from "./checks/layers.ts";
import { leftBehind } from "./checks/left-behind.ts";
import { linearRegexes } from "./checks/linear-regexes.ts";
import { manifests } from "./checks/manifests.ts";
import { moduleState } from "./checks/module-state.ts";
import { outgoingClient } from "./checks/outgoing-client.ts";
import { pageTexts } from "./checks/page-texts.ts";
import { pageTokens } from "./checks/page-tokens.ts";
import { platformWords } from "./checks/platform-words.ts";
import { retiredWords } from "./checks/retired-words.ts";
import { securityPage } from "./checks/security-page.ts";
import { testSkips } from "./checks/test-skips.ts";
import type { Workspace } from "./workspace.ts";

/** `pages` throws when the code that they are made of can't be read. */
export const allChecks = (pages: () => readonly GeneratedPage[]): readonly Check[] => [
  layers,
  folderWalls,
  architecturePage,
  dependencies,
  manifests,
  conformance,
  clientId,
  moduleState,
  outgoingClient,
  fileWalks,
  pageTexts,
  pageTokens,
  platformWords,
  linearRegexes,
  leftBehind,
  testSkips,
  errorCodes(Object.keys(ERRORS)),
  generatedPages(pages),
  docLinks,
  docCommands,
  retiredWords,
  securityPage,
];

export interface Outcome {
  readonly id: string;
  readonly rule: string;
  readonly ok: boolean;
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export function runChecks(workspace: Workspace, checks: readonly Check[]): Outcome[] {
  return checks.map((check) => {
    const found = findAll(check, workspace);
    const problems = found.filter(({ warning }) => warning !== true);
    const warnings = found.filter(({ warning }) => warning === true);
    return { id: check.id, rule: check.rule, ok: problems.length === 0, problems, warnings };
  });
}

/** A check that can't read its input has not passed. */
function findAll(check: Check, workspace: Workspace): readonly Finding[] {
  try {
    return check.find(workspace);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ file: ".", message: `The check could not run: ${message}`, fix: "Mend the file that it names." }];
  }
}
