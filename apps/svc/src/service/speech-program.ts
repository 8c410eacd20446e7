/** Programs of `[transcription]` and `[tts]`: each in the sandbox in force, in a folder of its own that goes with it. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createExec } from "@svc/agent";
import { type RunProgram } from "@svc/messaging";
import type { Home } from "@svc/kernel";
import { makeScratch } from "@svc/kit/files";
import { SANDBOX_USER } from "@svc/kit/process";
import type { Generation } from "./generation.ts";
import { hiddenPaths } from "./paths.ts";

/** `current`: the generation whose sandbox is in force when a program is started. */
export function speechProgram(home: Home, current: () => Pick<Generation, "config" | "probe">): RunProgram {
  return async ({ command, files, ...request }) => {
    const { config, probe } = current();
    const sandbox = await probe.verdict;
    const section = config.core["security.sandbox"];
    // Root's limits bind nobody, and root is not needed to speak.
    const user = process.getuid?.() === 0 && isConfined(sandbox.effective) ? SANDBOX_USER : undefined;
    await using scratch = await makeScratch({ prefix: "svc-speech-", owner: user });
    const paths = new Map<string, string>();
    for (const [placeholder, { name, bytes }] of Object.entries(files)) {
      const path = join(scratch.path, name);
      await using file = await open(path, "wx", 0o600);
      await file.writeFile(bytes);
      // By its descriptor: the folder is that user's, who may put anything in its place.
      if (user) await file.chown(user.uid, user.gid);
      paths.set(placeholder, path);
    }
    const word = (text: string): string =>
      text.replaceAll(/\{([a-z]+)\}/g, (whole, placeholder: string) => paths.get(placeholder) ?? whole);
    const [program, ...more] = command;
    const exec = createExec({
      choice: sandbox,
      config: { ...section, network: false, timeout_secs: Math.max(section.timeout_secs, request.timeoutMs / 1000) },
      workspace: scratch.path,
      hidden: hiddenPaths(home, config),
      ...(user && { user }),
    });
    // The folder goes when this ends, not before.
    return await exec({ ...request, command: [program, ...more.map(word)], unasked: true });
  };
}

const isConfined = (effective: string): boolean => !["none", "unavailable"].includes(effective);
