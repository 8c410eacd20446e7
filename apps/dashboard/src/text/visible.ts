/**
 * Text whose every character can be seen. A command is approved by what it looks like, so what turns the direction, draws nothing, or
 * moves what is drawn must not stand in it unnoticed. Line breaks and tabs stay.
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
