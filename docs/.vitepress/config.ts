// The config is in the package of the docs, where its types are checked. Run by Node and not bundled: VitePress's bundler is
// older than the target in the tsconfig there, and says so at every build.
const { site } = await import(new URL("../../packages/tooling/docs/src/site/config.ts", import.meta.url).href);

export default site;
