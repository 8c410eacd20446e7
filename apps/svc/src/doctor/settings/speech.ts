/** The programs of `[transcription]`, `[tts]` and the microphone: whether they are where they are looked for. */
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { commandPath } from "@svc/kit/process";
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function speechFindings(settings: Settings): Finding[] {
  return [...programFindings(settings), ...recorderFindings(settings)];
}

const RECORDERS = ["parec", "arecord", "ffmpeg"];

function recorderFindings({ config }: Settings): Finding[] {
  const section = config.section("channels_config.voice_wake") as { recorder?: readonly string[] } | undefined;
  if (!section) return [];
  const path = process.env["PATH"] ?? "";
  const programs = section.recorder ? section.recorder.slice(0, 1) : RECORDERS;
  if (programs.some((program) => isThere(program, path))) {
    return [ok("voice-recorder", "A program that records from the microphone is installed.")];
  }
  const message = "No program that records from the microphone is installed.";
  const fix = section.recorder
    ? "install the program of channels_config.voice_wake.recorder"
    : "install pulseaudio-utils (parec), alsa-utils (arecord) or ffmpeg";
  return [warning("voice-recorder", message, fix)];
}

function programFindings({ config, sandbox }: Settings): Finding[] {
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

function isThere(program: string, path = commandPath()): boolean {
  const files = isAbsolute(program) ? [program] : path.split(":").map((folder) => join(folder, program));
  return files.some(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
