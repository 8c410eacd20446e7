/** For the shell that runs `svc`. */
import type { CommandEntry } from "../command.ts";

export const shell: readonly CommandEntry[] = [
  {
    usage: "completions <shell>",
    summary: "Print a completion script for bash, zsh or fish",
    options: [],
    examples: ["source <(svc completions bash)", "svc completions fish > ~/.config/fish/completions/svc.fish"],
    actions: ["bash", "zsh", "fish"],
    load: () => import("../../commands/completions.ts"),
  },
];
