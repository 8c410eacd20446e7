// The node-<os>-<cpu> packages write `os` and `cpu` as strings; pnpm reads arrays and would install them all.
const toArray = (value) => (typeof value === "string" ? [value] : value);

export const hooks = {
  readPackage(pkg) {
    if (/^node-(bin-)?(linux|darwin|win)-(x64|arm64)$/.test(pkg.name)) {
      pkg.os = toArray(pkg.os);
      pkg.cpu = toArray(pkg.cpu);
    }
    return pkg;
  },
};
