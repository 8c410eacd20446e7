/** The programs of `[transcription]` and `[tts]`: whether they are where commands find them. */
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { commandPath } from "@svc/kit/process";
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function speechFindings({ config, sandbox }: Settings): Finding[] {
  const sections = ["transcription", "tts"] as const;
  return sections.flatMap((section) => {
    const { enabled, provider, command: [program] = [] } = config.core[section];
    if (!enabled || provider !== "command" || program === undefined) return [];
    // In a container other programs are installed.
    if (sandbox?.effective === "container") {
      return warning(
        "speech-program",
        `The program of [${section}] has to be in the image of the container that commands run in.`,
        `put ${program} into the image of security.sandbox.container_image, or choose another security.sandbox.backend`,
      );
    }
    return isThere(program)
      ? ok("speech-program", `The program of [${section}] is installed.`)
      : warning(
          "speech-program",
          `The program of [${section}] is not where commands find it.`,
          `install ${program}, or write its absolute path into ${section}.command`,
        );
  });
}

const isThere = (program: string): boolean =>
  (isAbsolute(program)
    ? [program]
    : commandPath()
        .split(":")
        .map((folder) => join(folder, program))
  ).some(isProgram);

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
