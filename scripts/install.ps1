# Installs runner on Windows: downloads the binary, verifies its checksum and installs it in
# $env:RUNNER_INSTALL, by default ~\.local\bin. It needs no administrator, and removes its temporary
# files if anything fails.
#
#   ./install.ps1            the latest release
#   ./install.ps1 1.2.3      that release
#
# RUNNER_RELEASES is where releases are; a release fills it in below.
param([string] $Version = "latest")

$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12

# PowerShell 5.1 only exists on Windows and does not define $IsWindows.
if ($PSVersionTable.PSEdition -eq "Core" -and -not $IsWindows) {
  throw "this is not Windows: use install.sh"
}
$releases = if ($env:RUNNER_RELEASES) { $env:RUNNER_RELEASES } else { "@RELEASES@" }
if ($releases.StartsWith("@")) {
  throw "RUNNER_RELEASES is not set: set it to the page of the releases, https://.../releases"
}
$from = switch -Regex ($Version) {
  "^latest$" { "$releases/latest/download" }
  "^v\d" { "$releases/download/$Version" }
  "^\d" { "$releases/download/v$Version" }
  default { throw "`"$Version`" is not a version: use a version such as 1.2.3, or none for the latest" }
}
if (-not [Environment]::Is64BitOperatingSystem) { throw "32-bit Windows is not supported" }

function Get-File([string] $Url, [string] $Path, [string] $Missing) {
  try {
    Invoke-WebRequest -UseBasicParsing $Url -OutFile $Path
  } catch {
    if ([int] $_.Exception.Response.StatusCode -eq 404) { throw $Missing }
    throw
  }
}

# The x64 binary runs on ARM, too.
$name = "runner-windows-x64.exe"
$folder = if ($env:RUNNER_INSTALL) { $env:RUNNER_INSTALL } else { Join-Path $HOME ".local\bin" }
$target = Join-Path $folder "runner.exe"
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())
$new = $null
New-Item -ItemType Directory -Path $work | Out-Null
try {
  $sums = Join-Path $work "SHA256SUMS"
  $file = Join-Path $work $name
  Write-Host "looking for $($Version -replace '^v', '') at $releases"
  Get-File "$from/SHA256SUMS" $sums "no such release at $releases (HTTP 404): see there which versions exist"
  $line = Get-Content -LiteralPath $sums | Where-Object { $_ -match "^([0-9a-f]{64})[ *]+$([Regex]::Escape($name))$" }
  if (-not $line) { throw "the release has no ${name}: it is not listed in $from/SHA256SUMS" }
  $wanted = $line.Substring(0, 64)
  Write-Host "downloading $name"
  Get-File "$from/$name" $file "the release lists $name, but does not contain it (HTTP 404): it may still be uploading"
  Write-Host "verifying its checksum"
  $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash.ToLowerInvariant()
  if ($found -ne $wanted) {
    throw "checksum mismatch for ${name}: expected $wanted, got $found"
  }
  New-Item -ItemType Directory -Force -Path $folder | Out-Null
  if (Test-Path -LiteralPath $target -PathType Container) {
    throw "$target is a directory: set RUNNER_INSTALL to another directory"
  }
  # Copied beside the target first: if the disk is full, the installed program is kept.
  $new = Join-Path $folder ".runner-$PID.exe"
  Copy-Item -LiteralPath $file -Destination $new
  Move-Item -Force -LiteralPath $new -Destination $target
} finally {
  if ($new -and (Test-Path -LiteralPath $new)) {
    Remove-Item -Force -LiteralPath $new -ErrorAction SilentlyContinue
  }
  Remove-Item -Recurse -Force -LiteralPath $work -ErrorAction SilentlyContinue
}

Write-Output "installed $target"
if (($env:PATH -split ";") -notcontains $folder) {
  Write-Output "add it to your PATH: `$env:PATH = `"$folder;`$env:PATH`""
}
