/** Options as the common parsers read them: beginnings of long names, and one-letter options in bundles. */

/** `names`: long options without their dashes, between blanks. */
export function namesOption(args: readonly string[], names: string): boolean {
  const options = names.split(/\s+/).filter(Boolean);
  return args.some((arg) => {
    const [given = ""] = arg.split("=", 1);
    return given.length > 2 && given.startsWith("--") && options.some((option) => `--${option}`.startsWith(given));
  });
}

/** `letters`: any of them in a word of one dash. What follows a letter can be its value: that asks once too often. */
export const hasLetter = (args: readonly string[], letters: string): boolean =>
  args.some((arg) => /^-[^-]/.test(arg) && [...letters].some((letter) => arg.includes(letter)));
