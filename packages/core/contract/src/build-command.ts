/** How this build is made again with one feature more. */

/** What `pnpm build` was asked for. */
export interface Recipe {
  readonly profile: string;
  readonly with: readonly string[];
  readonly without: readonly string[];
}

/** Keeps the features of the running build. Every message that says "build it in" takes its command from here. */
export function buildCommand(recipe: Recipe, flag: string): string {
  const without = recipe.without.filter((word) => word !== flag);
  const words = [...new Set([...recipe.with, flag])].join(",");
  return [`npx pnpm build ${recipe.profile} --with ${words}`, ...without.map((word) => `--without ${word}`)].join(" ");
}
