module rookery.dev/bed/small-programs

go 1.25.0
