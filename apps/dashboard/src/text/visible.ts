/**
 * Text with only visible characters. People approve a command by its look, so characters that change the direction, draw nothing,
 * or move other characters must not hide in it. Line breaks and tabs stay.
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
