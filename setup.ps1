#!/usr/bin/env pwsh
# Finds a Node to begin with (20 or newer) and hands over; see -Help.
[CmdletBinding(PositionalBinding = $false)]
param(
    [string]$Mode = '',
    [string[]]$With = @(),
    [string[]]$Without = @(),
    [string]$Prefix = '',
    [switch]$DryRun,
    [switch]$Json,
    [switch]$Help,
    [Parameter(ValueFromRemainingArguments = $true)]
    [string[]]$Rest = @()
)

# A ValidateSet would answer a wrong mode with exit code 1; handing the word on lets setup.mjs say what was meant, and 64.
$arguments = @()
if ($Mode -ne '') { $arguments += "--$($Mode.ToLowerInvariant())" }
if ($With.Count -gt 0) { $arguments += @('--with', ($With -join ',')) }
if ($Without.Count -gt 0) { $arguments += @('--without', ($Without -join ',')) }
if ($Prefix -ne '') { $arguments += @('--prefix', $Prefix) }
if ($DryRun) { $arguments += '--dry-run' }
if ($Json) { $arguments += '--json' }
if ($Help) { $arguments += '--help' }
$arguments += $Rest

$node = Get-Command -Name node -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
$major = 0
if ($null -ne $node) {
    $major = [int](& $node.Source -p 'parseInt(process.versions.node, 10)')
}
if ($major -lt 20) {
    [Console]::Error.WriteLine('setup: Node 20 or newer is needed to begin with, and none was found.')
    [Console]::Error.WriteLine('Install it with "winget install OpenJS.NodeJS.LTS" or from the Node.js download page,')
    [Console]::Error.WriteLine('open a new terminal, check it with "node --version", and run this again.')
    exit 69
}

$setup = Join-Path $PSScriptRoot 'packages/tooling/bootstrap/setup.mjs'
& $node.Source $setup @arguments
exit $LASTEXITCODE
