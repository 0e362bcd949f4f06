module rookery.dev/bed/vcluster

go 1.25.0

require github.com/loft-sh/vcluster v0.34.0
